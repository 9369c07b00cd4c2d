// The hierarchy as a picture: a field per community, as large as it has members, with what is within it. A click goes
// one level in. Places come from Python as shares of the whole; every text becomes textContent.

const SHARES = ["left", "top", "width", "height"];

function field(name, className, { place, title, about, lines }) {
  const made = document.createElement(name);
  made.className = className;
  SHARES.forEach((side, at) => (made.style[side] = `${place[at]}%`));
  if (title !== undefined) {
    const line = document.createElement("div"); // in the direction of the page, whatever that of the title is
    const text = document.createElement("bdi");
    text.textContent = title;
    line.append(text);
    if (lines) line.style.webkitLineClamp = Math.min(lines, 4);
    made.append(line);
  }
  if (about) {
    const said = document.createElement("small");
    said.textContent = about;
    made.append(said);
  }
  return made;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const picture = parentElement.querySelector(".attest-picture");
  picture.style.height = data.height;
  picture.setAttribute("aria-label", data.label);
  const tiles = data.tiles.map((tile) => {
    const made = field("button", `tile${tile.marked ? " marked" : ""}${tile.id ? "" : " rest"}${tile.inner.length ? " full" : ""}`, tile);
    made.type = "button";
    made.title = `${tile.title}\n${tile.full}`;
    made.setAttribute("aria-label", `${tile.title}, ${tile.full}`);
    if (tile.id === data.selected) made.setAttribute("aria-current", "true");
    made.append(...tile.inner.map((one) => field("span", "inner", one)));
    if (tile.id) made.onclick = () => setTriggerValue("event", { kind: tile.inner.length ? "enter" : "choose", id: tile.id });
    else made.disabled = true;
    return made;
  });
  picture.replaceChildren(...tiles);
}
