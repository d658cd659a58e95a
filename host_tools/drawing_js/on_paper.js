// What audiogram.js needs of a browser, for a drawing that becomes text: an SVG for paper.

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escaped = (text) => String(text).replace(/[&<>"]/g, (each) => ENTITIES[each]);

class Element {
  constructor(name) {
    Object.assign(this, { name, attributes: {}, children: [], dataset: {}, style: {} });
    this.classList = { add: (name) => this.setAttribute("class", name) };
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  append(child) {
    this.children.push(child);
  }

  replaceChildren() {
    this.children = [];
  }

  toString() {
    if (this.style.fontSize) this.setAttribute("style", `font-size: ${this.style.fontSize}`);
    for (const [name, value] of Object.entries(this.dataset)) {
      this.setAttribute(`data-${name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)}`, value);
    }
    const attributes = Object.entries(this.attributes);
    const told = attributes.map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
    const inside = escaped(this.textContent ?? "") + this.children.join("");
    return `<${this.name}${told}>${inside}</${this.name}>`;
  }
}

const document = { createElementNS: (_, name) => new Element(name) };

/** Return the text of an audiogram of these data; `style` is a style sheet. */
function asText(data, words, style) {
  const svg = new Element("svg");
  svg.setAttribute("xmlns", SVG);
  drawAudiogram(svg, data, words);
  const sheet = new Element("style");
  sheet.textContent = style;
  svg.children.unshift(sheet);
  return String(svg);
}
