// Content is inserted as text, never as HTML, because anyone may choose file names. Elements that have not changed are not
// touched, so that a selection is kept and a screen reader does not read them again.
"use strict";

const byId = (id) => document.getElementById(id);

const kInvisible = /[\p{Cc}\p{Zl}\p{Zp}\u{ad}\u{61c}\u{200b}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{e0000}-\u{e007f}]/gu;

/** Escapes invisible and bidirectional control characters, so that two different names always look different. */
function visible(text) {
  return String(text).replace(kInvisible, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
}

function setText(element, text) {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}

function setClass(element, name) {
  if (element.className !== name) element.className = name;
}

function show(id, visible) {
  byId(id).hidden = !visible;
}

function makeElement(tag, className = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  return element;
}

/** Adds or removes children so that `parent` has `amount` of them; existing children are kept. */
function setCount(parent, amount, makeChild) {
  while (parent.children.length > amount) parent.lastElementChild.remove();
  while (parent.children.length < amount) parent.append(makeChild());
}

/** A bar of parts: [{share, name}], where name is a class. Hidden from screen readers: the values are beside it. */
function setBar(element, parts) {
  setClass(element, "bar");
  element.setAttribute("aria-hidden", "true");
  setCount(element, parts.length, () => makeElement("i"));
  parts.forEach(({share, name}, i) => {
    setClass(element.children[i], name);
    const width = `${(100 * Math.min(1, Math.max(0, share || 0))).toFixed(1)}%`;
    if (element.children[i].style.width !== width) element.children[i].style.width = width;
  });
}

/** A cell is a text or {text, name (a class), title, bar}. */
function setCell(element, cell) {
  const {text = "", name = "", title = "", bar} = typeof cell === "object" ? cell : {text: cell};
  setClass(element, name);
  if (element.title !== title) element.title = title;
  if (bar) {
    setCount(element, 1, () => makeElement("div"));
    setBar(element.firstElementChild, bar);
  } else {
    setText(element, text);
  }
}

/** Sets the body of the table `id`: rows of cells. The first cell of a row is its header; the others have the column name. */
function setRows(id, rows) {
  const table = byId(id);
  const names = [...table.tHead.rows[table.tHead.rows.length - 1].cells].map((cell) => cell.textContent);
  const body = table.tBodies[0];
  setCount(body, rows.length, () => makeElement("tr"));
  rows.forEach((cells, i) => {
    const row = body.rows[i];
    setCount(row, cells.length, () => {
      const cell = makeElement(row.children.length === 0 ? "th" : "td");
      if (row.children.length === 0) cell.scope = "row";
      cell.dataset.column = names[row.children.length] ?? "";
      return cell;
    });
    cells.forEach((cell, j) => setCell(row.children[j], cell));
  });
}

/** Sets a list of names and values in a <dl>. */
function setFacts(list, facts) {
  setCount(list, facts.length, () => {
    const pair = makeElement("div");
    pair.append(makeElement("dt"), makeElement("dd"));
    return pair;
  });
  facts.forEach(([name, value], i) => {
    setText(list.children[i].children[0], name);
    setCell(list.children[i].children[1], value);
  });
}
