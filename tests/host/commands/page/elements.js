// As much of a document as the page's modules need to make elements; `textOf` reads them.

class Element {
  constructor(name) {
    Object.assign(this, { name, children: [], attributes: {}, dataset: {}, style: {}, hidden: false });
    this.classList = { add() {}, toggle() {} };
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
    if (name === "id") this.id = value;
  }
  append(...children) {
    this.children.push(...children);
  }
  replaceChildren(...children) {
    this.children = children;
  }
}

globalThis.document = {
  documentElement: {},
  createElement: (name) => new Element(name),
  createElementNS: (_, name) => new Element(name),
};

const textOf = (each) =>
  each instanceof Element ? each.children.map(textOf).join("\n") : String(each);
