// Puts the pages of the book into one document, for paper: tools/make_pdf.py runs it in a browser, on an empty page.
//
// pages: [{stem, part}], the part's name where one begins; answers: {id of an exercise: HTML}; base: the site's address
// or null; figures: {stem: [the HTML of each live figure, drawn]}. Every id begins with the stem of its page, and every
// link leads to a place in this document, to the open web, or nowhere.
async ({ pages, answers, base, figures }) => {
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const contents = document.querySelector("#contents ol");
  const stems = new Set(pages.map(({ stem }) => stem));
  const back = make("section", { id: "answers", className: "chapter" });
  back.append(make("h1", { textContent: "Hints and answers" }));
  const running = document.head.appendChild(make("style"));

  function addressed(link, from) {
    const url = new URL(link.getAttribute("href"), from);
    if (url.origin !== location.origin) return;
    const stem = url.pathname.match(/chapters\/([^/]+)\.html$/)?.[1];
    if (stems.has(stem)) link.setAttribute("href", `#${stem}${url.hash && "--" + url.hash.slice(1)}`);
    else if (base) link.setAttribute("href", new URL(url.pathname.slice(1), base));
    else link.removeAttribute("href");
  }

  function prefix(article, stem) {
    for (const element of article.querySelectorAll("*"))
      for (const { name, value } of [...element.attributes]) {
        if (name === "id" || name === "for") element.setAttribute(name, `${stem}--${value}`);
        else if (name === "aria-labelledby" || name === "aria-describedby")
          element.setAttribute(name, value.replace(/\S+/g, `${stem}--$&`));
        else if (element.closest("svg") && name.endsWith("href"))
          element.setAttribute(name, value.replace("#", `#${stem}--`));
        else if (value.includes("url(#")) element.setAttribute(name, value.replaceAll("url(#", `url(#${stem}--`));
      }
  }

  // The words of a heading, which may hold formulas.
  function words(heading) {
    const copy = heading.cloneNode(true);
    copy.querySelectorAll("a, [id]").forEach((inner) => inner.replaceWith(...inner.childNodes));
    return [...copy.childNodes];
  }

  function moveHints(chapter, stem) {
    for (const exercise of chapter.querySelectorAll(".exercise, section:has(> details:not(.numbers))")) {
      const link = make("a", { href: "#" + exercise.id }, ...words(exercise.querySelector("h2, h3")));
      const place = make("section", {}, make("h3", {}, link));
      const hints = [...exercise.querySelectorAll("details:not(.numbers)")];
      for (const hint of hints) {
        const name = hint.querySelector("summary").textContent;
        hint.querySelector("summary").remove();
        hint.remove();
        // The last hint of an exercise in code is a part of its answer.
        if (hint === hints.at(-1) && exercise.querySelector(".tag_stub")) continue;
        const first = hint.querySelector("p") ?? hint.appendChild(make("p"));
        first.prepend(make("strong", { textContent: name + ". " }));
        place.append(...hint.childNodes);
      }
      place.insertAdjacentHTML("beforeend", answers[exercise.id.replace(stem + "--", "")] ?? "");
      back.append(place);
    }
  }

  function entry(heading, target) {
    const link = make("a", { href: "#" + target }, ...words(heading));
    return make("li", {}, make("div", {}, link, make("span", { className: "page-of" })));
  }

  function list(chapter) {
    const chapterEntry = entry(chapter.querySelector("h1"), chapter.id);
    const headings = [...chapter.querySelectorAll("h2")];
    const sections = headings.map((heading) => entry(heading, heading.id || heading.parentElement.id));
    if (sections.length) chapterEntry.append(make("ol", {}, ...sections));
    contents.append(chapterEntry);
    // A page style of its own gives each chapter a running head.
    const [name, head] = ["of-" + chapter.id.toLowerCase(), JSON.stringify(chapter.querySelector("h1").textContent)];
    running.append(`#${CSS.escape(chapter.id)} { page: ${name}; } @page ${name} { @top-center { content: ${head} } }`);
  }

  for (const { stem, part } of pages) {
    const address = new URL(`chapters/${stem}.html`, location.href);
    const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
    const article = page.querySelector("article");
    article.querySelectorAll(".live-figure").forEach((figure, i) => (figure.outerHTML = figures[stem][i]));
    const onScreens = "script, noscript, .headerlink, .progress-panel, .on-paper, .on-colab, #a-cell-of-your-own";
    article.querySelectorAll(onScreens).forEach((element) => element.remove());
    // A blank's options stand in the list below the program: in it stands their number, which the first option is.
    article.querySelectorAll("pre select").forEach((select) => select.replaceWith(select.options[0].textContent));
    // Code is black on paper; the spans that colour it on a screen would make the PDF twice as heavy.
    article.querySelectorAll("pre, code").forEach((code) => (code.textContent = code.textContent));
    prefix(article, stem);
    article.querySelectorAll("a[href]").forEach((link) => addressed(link, address));
    article.querySelectorAll("img").forEach((image) => (image.src = new URL(image.getAttribute("src"), address)));
    const chapter = make("section", { id: stem, className: "chapter" }, ...article.childNodes);
    if (part) contents.append(make("li", { className: "part", textContent: part }));
    document.querySelector("article").append(chapter);
    const title = chapter.querySelector("h1").textContent;
    const first = chapter.querySelector(".exercise");
    if (first) {
      back.append(make("h2", { id: `answers-${stem}`, textContent: title }));
      const link = make("a", { href: `#answers-${stem}`, textContent: "Hints and answers" });
      const pointer = make("p", {}, link, ": page ", make("span", { className: "page-of" }));
      first.parentElement.querySelector("h2").after(pointer);
    }
    list(chapter);
    moveHints(chapter, stem);
  }
  document.querySelector("article").append(back);
  list(back);
  document.body.getBoundingClientRect(); // laid out, it asks for the fonts that it shows
  await document.fonts.ready;
};
