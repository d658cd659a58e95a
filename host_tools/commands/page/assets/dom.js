// Elements of the page. What is told is said again where the language changes. Texts become text nodes: nothing of a device or a person is ever markup.

export function at(id) {
  return document.getElementById(id);
}

export function onClick(id, act) {
  at(id).addEventListener("click", act);
}

/** Make an element with attributes and children; a child is an element or a text. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) {
      element.addEventListener(key.slice(2), value);
    } else if (value !== null && value !== false) {
      element.setAttribute(key, value === true ? "" : value);
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Put these children in the place of all that an element has. */
export function fill(element, ...children) {
  makers.delete(element);
  element.replaceChildren(...children.filter((child) => child !== null));
}

const makers = new Map(); // of what is said in the language that was chosen, by element

/** Put what `words` returns into an element, now and whenever the language is changed. */
export function tell(element, words) {
  fill(element, ...[words()].flat());
  makers.set(element, words);
}

/** Say everything again, in the language that was chosen now. */
export function retell() {
  for (const [element, words] of [...makers]) {
    if (element.isConnected) {
      tell(element, words);
    } else {
      makers.delete(element);
    }
  }
}

export function show(element, shown) {
  element.hidden = !shown;
}

/** Return a table; the first cell of each row is its name. */
export function table(caption, columns, rows) {
  const head = columns.map((name) => (name ? make("th", { scope: "col" }, name) : make("td")));
  const body = rows.map(([first, ...others]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, first),
      ...others.map((each) => make("td", {}, each)),
    ),
  );
  return make(
    "table",
    {},
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...body),
  );
}

export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
