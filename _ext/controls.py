"""The HTML of a figure's controls, written at build time from the saved state of its widgets.

The page thus has its final shape before any script runs: nothing jumps, and without JavaScript a reader
sees the controls at their first setting, disabled. host.js finds each control by `data-model` and brings it
to life. To add a widget: one function here, its line in CONTROLS, and its behaviour in host.js.
"""
from html import escape


def attributes(**values):
    """HTML attributes; True is written bare, None and False are left out, `_` becomes `-`."""
    words = []
    for name, value in values.items():
        name = name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(name)
        elif value is not None and value is not False:
            words.append(f'{name}="{escape(str(value))}"')
    return " ".join(words)


def name_of(state):
    """A control's name as HTML."""
    return escape(state.get("description") or state.get("tooltip") or "setting")


def control(kind, model_id, state, inside, tag="div"):
    title = state.get("tooltip") or state.get("description_tooltip")
    opening = attributes(class_=f"live-control live-{kind}", data_model=model_id, data_kind=kind, title=title)
    return f"<{tag} {opening}>{inside}</{tag}>"


def slider(kind, text, **limits):
    """A range input with its label and a readout."""

    def html(model_id, state):
        own = {name: state.get(value, value) for name, value in limits.items()}
        if kind == "index":
            own["max"] = len(state["_options_labels"]) - 1
        value = state["index" if kind == "index" else "value"]
        shown = text(state, value)
        field = attributes(id=model_id, type="range", **own, value=value, aria_valuetext=shown, disabled=True)
        inside = (
            f'<label for="{model_id}">{name_of(state)}</label><input {field}>'
            f'<output for="{model_id}" aria-live="off">{escape(shown)}</output>'
        )
        return control(kind, model_id, state, inside)

    return html


def number(state, value):
    """A slider's value as its readout_format says, with a real minus sign; host.js has the same rule."""
    form = str(state.get("readout_format") or "")
    return (f"{value:{form}}" if form.startswith(".") else str(value)).replace("-", "\N{MINUS SIGN}")


def option(state, index):
    return state["_options_labels"][index]


def checkbox(model_id, state):
    field = attributes(id=model_id, type="checkbox", checked=bool(state["value"]), disabled=True)
    return control("checked", model_id, state,
                   f'<input {field}><label for="{model_id}">{name_of(state)}</label>')


def dropdown(model_id, state):
    options = "".join(
        f"<option {attributes(selected=index == state['index'])}>{escape(label)}</option>"
        for index, label in enumerate(state["_options_labels"])
    )
    inside = (f'<label for="{model_id}">{name_of(state)}</label><select id="{model_id}" '
              f'disabled>{options}</select>')
    return control("select", model_id, state, inside)


def toggle_buttons(model_id, state):
    """One radio button for each choice: the arrow keys move between them, as a reader of radios expects."""
    choices = "".join(
        f"<label><input {attributes(type='radio', name=model_id, checked=index == state['index'], disabled=True)}>"
        f"<span>{escape(label)}</span></label>"
        for index, label in enumerate(state["_options_labels"])
    )
    return control("radio", model_id, state, f"<legend>{name_of(state)}</legend>{choices}", tag="fieldset")


def label(model_id, state):
    return control("text", model_id, state, escape(state.get("value", "")))


def html_text(model_id, state):
    return control("html", model_id, state, state.get("value", ""))


CONTROLS = {
    "IntSliderModel": slider("value", number, min="min", max="max", step="step"),
    "FloatSliderModel": slider("value", number, min="min", max="max", step="step"),
    "SelectionSliderModel": slider("index", option, min="0", step="1"),
    "CheckboxModel": checkbox,
    "DropdownModel": dropdown,
    "ToggleButtonsModel": toggle_buttons,
    "LabelModel": label,
    "HTMLModel": html_text,
}
BOXES = {"VBoxModel": "live-controls", "HBoxModel": "live-hbox"}
