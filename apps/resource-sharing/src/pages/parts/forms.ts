import type { AppError } from '@gatehouse/platform';
import { errorText } from '../../messages/error-text.js';
import { frame } from '../../messages/en/frame.js';
import type { Member, Visitor } from '../../wire/visitor.js';
import { Html, markup, type Content } from './markup.js';

/** Matches TOKEN_FIELD of visitors.ts. */
const TOKEN = '_token';

/** A field that has a label in the catalogue. */
export type FieldName = keyof typeof frame.fields;

export interface FieldOptions {
  /** Name in the API, which also selects the label. */
  readonly name: FieldName;
  /** Default: the label for the name. */
  readonly label?: string;
  readonly hint?: Content;
  readonly value?: string | number | null | undefined;
  readonly type?: 'text' | 'password' | 'email' | 'url' | 'number' | 'date' | 'search';
  readonly autocomplete?: string;
  readonly optional?: boolean;
  /** The error of the form, which may concern this field. */
  readonly problem?: AppError | undefined;
  /** Default: the name; needed for a second field with the same name on one page. */
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

/** A form that consists of one button. */
export function actionForm(
  visitor: Visitor,
  action: string,
  label: string,
  options: {
    style?: 'primary' | 'danger';
    /** Small buttons are in rows of tables. */
    size?: 'small' | 'normal';
    fields?: Readonly<Record<string, string | number>>;
    about?: string;
  } = {},
): Html {
  const { style, size = 'small', fields = {}, about } = options;
  const hidden = Object.entries(fields).map(([name, value]) => hiddenField(name, value));
  // The name of the item distinguishes the buttons of a list.
  const name = about === undefined ? '' : markup` aria-label="${label}: ${about}"`;
  return markup`<form class="inline" method="post" action="${action}">${tokenField(visitor)}${hidden}<button class="${size === 'small' && new Html('small ')}${style}"${name}>${label}</button></form>`;
}

/** A search form: it changes nothing, so it needs no token. */
export function searchForm({ words }: Visitor, action: string, label: string, search: string): Html {
  return markup`<form method="get" action="${action}" role="search" class="filters"><div class="field search">
<label class="hidden" for="search">${label}</label>
<input id="search" name="search" type="search" placeholder="${label}" value="${search}"></div>
<div><button>${words.text('common.search')}</button></div></form>`;
}

export function hiddenField(name: string, value: string | number): Html {
  return markup`<input type="hidden" name="${name}" value="${value}">`;
}

/** A single-line field with label, hint and error. */
export function field(visitor: Visitor, options: FieldOptions): Html {
  const { name, value, type = 'text', autocomplete, optional = false } = options;
  return markup`<div class="field">
${labelOf(visitor, options)}
<input id="${idOf(options)}" name="${name}" type="${type}" value="${value}"${autocomplete === undefined ? '' : markup` autocomplete="${autocomplete}"`}${!optional && new Html(' required')}${stateOf(options)}>
${hintOf(visitor, options)}
</div>`;
}

/** For the code of the second factor beside a password; nothing for members without one. */
export function codeField(visitor: Member, options: Pick<FieldOptions, 'problem' | 'id' | 'optional'> = {}): Content {
  if (!visitor.account.hasSecondFactor) return undefined;
  const hint = visitor.words.text('factor.codeHint');
  return field(visitor, { name: 'code', autocomplete: 'one-time-code', hint, ...options });
}

/** A multi-line field. `check`: an address that checks it while it is typed. */
export function textArea(visitor: Visitor, options: FieldOptions & { rows?: number; check?: string }): Html {
  const { name, value, rows = 3, optional = false, check } = options;
  // Browsers drop a line break right after the tag: this one makes sure that no part of the text is lost.
  return markup`<div class="field">
${labelOf(visitor, options)}
<textarea id="${idOf(options)}" name="${name}" rows="${rows}"${!optional && new Html(' required')}${check !== undefined && markup` data-check="${check}"`}${stateOf(options)}>
${value}</textarea>
${hintOf(visitor, options)}
</div>`;
}

/** A choice of one value. */
export function select(visitor: Visitor, options: FieldOptions & { choices: readonly Choice[] }): Html {
  const { name, value, choices } = options;
  const items = choices.map(
    (choice) =>
      markup`<option value="${choice.value}"${choice.value === value && new Html(' selected')}>${choice.label}</option>`,
  );
  return markup`<div class="field">
${labelOf(visitor, options)}
<select id="${idOf(options)}" name="${name}"${stateOf(options)}>${items}</select>
${hintOf(visitor, options)}
</div>`;
}

/** A choice of several values. */
export function checkboxes(
  visitor: Visitor,
  options: Omit<FieldOptions, 'value'> & { choices: readonly Choice[]; checked: readonly string[] },
): Html {
  const { name, label = visitor.words.text(`fields.${name}`), choices, checked } = options;
  const items = choices.map(({ value, label: text, hint }, index) => {
    const id = index === 0 ? idOf(options) : `${idOf(options)}-${value}`;
    return markup`<div class="field check">
<input type="checkbox" id="${id}" name="${name}" value="${value}"${checked.includes(value) && new Html(' checked')}>
<label for="${id}">${text}${hint !== undefined && markup`<span class="second">${hint}</span>`}</label>
</div>`;
  });
  return markup`<fieldset${stateOf(options)}>
<legend>${label}</legend>
${hintOf(visitor, options)}
${items}
</fieldset>`;
}

export function checkbox(
  visitor: Visitor,
  options: Pick<FieldOptions, 'name' | 'label' | 'hint' | 'id'> & { checked?: boolean },
): Html {
  const { name, label = visitor.words.text(`fields.${name}`), hint, checked = false } = options;
  return markup`<div class="field check">
<input type="checkbox" id="${idOf(options)}" name="${name}" value="true"${checked && new Html(' checked')}>
<label for="${idOf(options)}">${label}${hint !== undefined && markup`<span class="second">${hint}</span>`}</label>
</div>`;
}

export function submit(label: string, style: 'primary' | 'danger' = 'primary'): Html {
  return markup`<p class="actions"><button class="${style}">${label}</button></p>`;
}

/** Copies a text; it is hidden without scripts. */
export function copyButton({ words }: Visitor, text: string): Html {
  return markup`<button type="button" class="small" hidden data-copy="${text}" data-copied="${words.text('common.copied')}" data-copy-failed="${words.text('common.copyFailed')}">${words.text('common.copy')}</button>`;
}

export function tokenField(visitor: Visitor): Html {
  return hiddenField(TOKEN, visitor.formToken());
}

function labelOf({ words }: Visitor, options: FieldOptions): Html {
  const { name, label = words.text(`fields.${name}`), optional = false } = options;
  const note = optional && markup` <span class="muted">(${words.text('common.optional')})</span>`;
  return markup`<label for="${idOf(options)}">${label}${note}</label>`;
}

function idOf({ id, name }: Pick<FieldOptions, 'id' | 'name'>): string {
  return id ?? name;
}

function wrongWith({ name, problem }: Pick<FieldOptions, 'name' | 'problem'>): string[] {
  const details = problem?.details ?? [];
  return details.flatMap(({ field: at, message }) => (at.replace(/\[\d+\]$/, '') === name ? [message] : []));
}

function hintOf({ words }: Visitor, options: Pick<FieldOptions, 'id' | 'name' | 'hint' | 'problem'>): Content {
  const id = idOf(options);
  const wrong = wrongWith(options);
  return [
    options.hint !== undefined && markup`<p class="hint" id="${id}-hint">${options.hint}</p>`,
    wrong.length > 0 &&
      markup`<p class="problem" id="${id}-wrong">${wrong.map((text) => errorText(words.language, text)).join('; ')}</p>`,
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
