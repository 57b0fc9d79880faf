// A formula is copied as its TeX, within dollars: pasted into a notebook or a message, it is a formula again; a symbol
// in words as it is typed, W_Q.
document.addEventListener("copy", (event) => {
  const selection = getSelection();
  if (!selection.rangeCount || event.target.closest?.("input, textarea")) return;
  const range = selection.getRangeAt(0).cloneRange();
  const formulaAt = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest("math");
  // A part of a formula has no TeX of its own: the whole formula is meant.
  const [first, last] = [formulaAt(range.startContainer), formulaAt(range.endContainer)];
  if (first) range.setStartBefore(first);
  if (last) range.setEndAfter(last);
  const copied = range.cloneContents();
  const formulas = copied.querySelectorAll("math");
  const symbols = copied.querySelectorAll(".formula");
  if (!formulas.length && !symbols.length) return;
  const page = document.createElement("div");
  page.append(copied.cloneNode(true));
  event.clipboardData.setData("text/html", page.innerHTML);
  formulas.forEach((formula) => {
    const dollars = formula.getAttribute("display") === "block" ? "$$" : "$";
    formula.replaceWith(dollars + formula.querySelector("annotation").textContent + dollars);
  });
  symbols.forEach((symbol) => symbol.replaceWith(symbol.dataset.typed));
  event.clipboardData.setData("text/plain", copied.textContent);
  event.preventDefault();
});
