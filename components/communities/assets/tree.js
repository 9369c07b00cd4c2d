// The hierarchy as a tree: the rows that are open, each of which can be chosen, opened and walked to by keyboard.
// Every text becomes textContent. A click chooses, a second one within a moment (or Shift and Enter) opens.

const element = (name, className, text) => {
  const made = document.createElement(name);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

function row(data, place, count) {
  const made = element("div", `row ${data.kind}`);
  made.id = `row-${place}`;
  made.dataset.id = data.id;
  made.style.paddingInlineStart = `${6 + 18 * data.depth}px`;
  made.setAttribute("role", "treeitem");
  made.setAttribute("aria-level", data.depth + 1);
  made.setAttribute("aria-posinset", place + 1);
  made.setAttribute("aria-setsize", count);
  made.setAttribute("aria-selected", Boolean(data.selected));
  if (data.open !== null) made.setAttribute("aria-expanded", data.open);
  made.tabIndex = -1;
  const twist = element("span", "twist", data.open === null ? "" : data.open ? "▾" : "▸");
  twist.setAttribute("aria-hidden", "true");
  const text = element("div", "text");
  const title = element("div", "title");
  title.append(element("bdi", "", data.title));
  for (const mark of data.marks) title.append(element("span", "mark", mark));
  text.append(title);
  if (data.about) text.append(element("div", "about", data.about));
  made.append(twist, text);
  made.title = data.full ?? data.title;
  return made;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const tree = parentElement.querySelector("[role=tree]");
  const had = tree.getRootNode().activeElement?.closest?.("[role=treeitem]")?.dataset.id;
  const rows = data.rows.map((one, place) => row(one, place, data.rows.length));
  tree.style.height = data.height;
  tree.setAttribute("aria-label", data.label);
  tree.replaceChildren(...rows);
  const known = new Map(data.rows.map((one, place) => [one.id, { ...one, place }]));
  const of = (target) => known.get(target?.closest?.("[role=treeitem]")?.dataset.id);
  const tell = (kind, id) => setTriggerValue("event", { kind, id });
  const fold = (one) => tell(one.open ? "fold" : "unfold", one.id);
  const isOpenable = (one) => one.kind === "community";

  const stand = (place) => {
    const next = rows[Math.min(Math.max(place, 0), rows.length - 1)];
    if (!next) return;
    for (const one of rows) one.tabIndex = -1;
    next.tabIndex = 0;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  const act = (one) => {
    if (one.kind === "more") tell("more", one.id);
    else if (one.kind === "dataset") fold(one);
    else tell("choose", one.id);
  };
  const parentOf = ({ place, depth }) => {
    let at = place;
    while (at > 0 && data.rows[at].depth >= depth) at -= 1;
    return at;
  };

  tree.onclick = (event) => {
    const one = of(event.target);
    if (!one) return;
    stand(one.place);
    if (event.target.classList.contains("twist") && one.open !== null) fold(one);
    else act(one);
  };
  tree.ondblclick = (event) => {
    const one = of(event.target);
    if (one && isOpenable(one) && !event.target.classList.contains("twist")) tell("open", one.id);
  };
  const keys = {
    ArrowDown: (one) => stand(one.place + 1),
    ArrowUp: (one) => stand(one.place - 1),
    Home: () => stand(0),
    End: () => stand(rows.length - 1),
    ArrowRight: (one) => (one.open === false ? fold(one) : one.open && stand(one.place + 1)),
    ArrowLeft: (one) => (one.open ? fold(one) : stand(parentOf(one))),
    Enter: (one, event) => (event.shiftKey && isOpenable(one) ? tell("open", one.id) : act(one)),
    " ": (one) => act(one),
  };
  tree.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Tab") return;
    event.stopPropagation(); // Streamlit listens for single letters
    const one = of(event.target);
    if (!one || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key](one, event);
  };

  const chosen = data.rows.findIndex((one) => one.selected);
  const focused = known.get(had)?.place;
  const first = rows[focused ?? Math.max(chosen, 0)];
  if (first) first.tabIndex = 0;
  if (focused !== undefined) stand(focused);
  else if (chosen >= 0 && tree.dataset.chosen !== data.rows[chosen].id) rows[chosen].scrollIntoView({ block: "nearest" });
  tree.dataset.chosen = chosen >= 0 ? data.rows[chosen].id : "";
}
