import type { AppError } from '@gatehouse/platform';
import { Html, markup, type Content } from './markup.js';
import type { Visitor } from '../../wire/visitor.js';

/** Matches TOKEN_FIELD of visitors.ts. */
const TOKEN = '_token';

export interface FieldOptions {
  readonly name: string;
  readonly label: string;
  readonly hint?: Content;
  readonly value?: string | number | null | undefined;
  readonly type?: 'text' | 'password' | 'email' | 'url' | 'number' | 'date' | 'search';
  readonly autocomplete?: string;
  readonly optional?: boolean;
  /** What was wrong with the form, this field perhaps among it. */
  readonly problem?: AppError | undefined;
  /** Default: the name. For the second field of a name on one page. */
  readonly id?: string;
}

export interface Choice {
  readonly value: string;
  readonly label: Content;
  readonly hint?: Content;
}

/** A POST form with its token. */
export function form(visitor: Visitor, action: string, content: Content): Html {
  return markup`<form method="post" action="${action}">${tokenField(visitor)}
${content}
</form>`;
}

/** A form that is one button. */
export function actionForm(
  visitor: Visitor,
  action: string,
  label: string,
  options: { style?: 'plain' | 'danger'; fields?: Readonly<Record<string, string | number>>; about?: string } = {},
): Html {
  const { style, fields = {}, about } = options;
  const hidden = Object.entries(fields).map(([name, value]) => hiddenField(name, value));
  // The name of the item distinguishes the buttons of a list.
  const name = about === undefined ? '' : markup` aria-label="${label}: ${about}"`;
  return markup`<form class="inline" method="post" action="${action}">${tokenField(visitor)}${hidden}<button class="${style ?? ''}"${name}>${label}</button></form>`;
}

export function hiddenField(name: string, value: string | number): Html {
  return markup`<input type="hidden" name="${name}" value="${value}">`;
}

/** A field of one line with label, hint and what was wrong. */
export function field(options: FieldOptions): Html {
  const { name, label, value, type = 'text', autocomplete, optional = false } = options;
  return markup`<div class="field">
<label for="${idOf(options)}">${label}${optional && markup` <span class="quiet">(optional)</span>`}</label>
${hintOf(options)}
<input id="${idOf(options)}" name="${name}" type="${type}" value="${value}"${autocomplete === undefined ? '' : markup` autocomplete="${autocomplete}"`}${!optional && new Html(' required')}${stateOf(options)}>
</div>`;
}

/** A field of several lines. */
export function textArea(options: FieldOptions & { rows?: number }): Html {
  const { name, label, value, rows = 3, optional = false } = options;
  // A line break right after the tag is left out by browsers: ours makes sure that none of the text is.
  return markup`<div class="field">
<label for="${idOf(options)}">${label}${optional && markup` <span class="quiet">(optional)</span>`}</label>
${hintOf(options)}
<textarea id="${idOf(options)}" name="${name}" rows="${rows}"${!optional && new Html(' required')}${stateOf(options)}>
${value}</textarea>
</div>`;
}

/** One of several. */
export function select(options: FieldOptions & { choices: readonly Choice[] }): Html {
  const { name, label, value, choices } = options;
  const items = choices.map(
    (choice) =>
      markup`<option value="${choice.value}"${choice.value === value && new Html(' selected')}>${choice.label}</option>`,
  );
  return markup`<div class="field">
<label for="${idOf(options)}">${label}</label>
${hintOf(options)}
<select id="${idOf(options)}" name="${name}"${stateOf(options)}>${items}</select>
</div>`;
}

/** Any of several. */
export function checkboxes(
  options: Omit<FieldOptions, 'value'> & { choices: readonly Choice[]; checked: readonly string[] },
): Html {
  const { name, label, choices, checked } = options;
  const items = choices.map(({ value, label: text, hint }, index) => {
    const id = index === 0 ? idOf(options) : `${idOf(options)}-${value}`;
    return markup`<div class="choice">
<input type="checkbox" id="${id}" name="${name}" value="${value}"${checked.includes(value) && new Html(' checked')}>
<label for="${id}">${text}${hint !== undefined && markup`<span class="hint">${hint}</span>`}</label>
</div>`;
  });
  return markup`<fieldset${stateOf(options)}>
<legend>${label}</legend>
${hintOf(options)}
${items}
</fieldset>`;
}

export const checkbox = (
  options: Pick<FieldOptions, 'name' | 'label' | 'hint' | 'id'> & { checked?: boolean },
): Html => {
  const { name, label, hint, checked = false } = options;
  return markup`<div class="choice">
<input type="checkbox" id="${idOf(options)}" name="${name}" value="true"${checked && new Html(' checked')}>
<label for="${idOf(options)}">${label}${hint !== undefined && markup`<span class="hint">${hint}</span>`}</label>
</div>`;
};

export function submit(label: string, style = ''): Html {
  return markup`<p class="actions"><button class="${style}">${label}</button></p>`;
}

function tokenField(visitor: Visitor): Html {
  return hiddenField(TOKEN, visitor.formToken());
}

function idOf({ id, name }: Pick<FieldOptions, 'id' | 'name'>): string {
  return id ?? name;
}

function wrongWith({ name, problem }: Pick<FieldOptions, 'name' | 'problem'>): string[] {
  const details = problem?.details ?? [];
  return details.flatMap(({ field: at, message }) => (at.replace(/\[\d+\]$/, '') === name ? [message] : []));
}

function hintOf(options: Pick<FieldOptions, 'id' | 'name' | 'hint' | 'problem'>): Content {
  const id = idOf(options);
  const wrong = wrongWith(options);
  return [
    options.hint !== undefined && markup`<span class="hint" id="${id}-hint">${options.hint}</span>`,
    wrong.length > 0 && markup`<span class="wrong" id="${id}-wrong">${wrong.join('; ')}</span>`,
  ];
}

function stateOf(options: Pick<FieldOptions, 'id' | 'name' | 'hint' | 'problem'>): Content {
  const id = idOf(options);
  const isWrong = wrongWith(options).length > 0;
  const described = [options.hint !== undefined && `${id}-hint`, isWrong && `${id}-wrong`].filter(
    (part) => part !== false,
  );
  return [
    described.length > 0 && markup` aria-describedby="${described.join(' ')}"`,
    isWrong && new Html(' aria-invalid="true"'),
  ];
}
