// What is wrong with a field, at the field: it is read out, and gone when something else is typed.

import { at, make, tell } from "./dom.js";

const WRONG = "wrong";

/** Say what is wrong with a field, and lead the operator to it. */
export function complain(id, words) {
  const field = at(id);
  mend(field);
  const told = make("small", { id: `${id}-${WRONG}`, class: WRONG, role: "alert" });
  field.closest("label").append(told);
  tell(told, words);
  field.setAttribute("aria-invalid", "true");
  const described = [field.getAttribute("aria-describedby"), told.id].filter(Boolean);
  field.setAttribute("aria-describedby", described.join(" "));
  const folded = field.closest("details");
  if (folded) {
    folded.open = true;
  }
  field.focus();
  for (const kind of ["input", "change"]) {
    field.addEventListener(kind, () => mend(field), { once: true });
  }
}

/** Take back what was wrong with all fields. */
export function mendAll() {
  for (const field of document.querySelectorAll("[aria-invalid]")) {
    mend(field);
  }
}

function mend(field) {
  at(`${field.id}-${WRONG}`)?.remove();
  field.removeAttribute("aria-invalid");
  const left = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => !id.endsWith(WRONG));
  field.setAttribute("aria-describedby", left.join(" "));
}
