import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../messages/index.js';

interface Described {
  label: string;
  hint?: ComponentChildren;
  problem?: string | undefined;
}

interface TextFieldProps extends Described {
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'password' | 'url' | 'number' | 'search' | 'datetime-local';
  required?: boolean;
  placeholder?: string;
  autoComplete?: string;
  spellcheck?: boolean;
  /** Seen by screen readers only, where the place says it to everybody else. */
  hideLabel?: boolean;
  autofocus?: boolean;
  /** Several lines. */
  rows?: number;
  list?: readonly string[];
}

export function TextField(props: TextFieldProps) {
  const { label, hint, problem, value, onInput, type = 'text', hideLabel = false, rows, list, ...rest } = props;
  const id = useId();
  const common = {
    id,
    value,
    onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-note`,
    spellcheck: false,
    ...rest,
  };
  return (
    <div class="field">
      <label for={id} class={hideLabel ? 'hidden' : ''}>
        {label}
      </label>
      {rows === undefined ? (
        // One of the kinds stands for all: the types know no input whose kind is a variable.
        <input type={type as 'text'} list={list && `${id}-list`} {...common} />
      ) : (
        <textarea rows={rows} {...common} />
      )}
      {list && (
        <datalist id={`${id}-list`}>
          {list.map((entry) => (
            <option key={entry} value={entry} />
          ))}
        </datalist>
      )}
      <FieldNote id={`${id}-note`} hint={hint} problem={problem} />
    </div>
  );
}

export interface Choice {
  value: string;
  label: string;
}

interface SelectFieldProps extends Described {
  value: string;
  onChange: (value: string) => void;
  choices: readonly Choice[];
  hideLabel?: boolean;
}

export function SelectField({ label, hint, problem, value, onChange, choices, hideLabel = false }: SelectFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={hideLabel ? 'hidden' : ''}>
        {label}
      </label>
      <select
        id={id}
        value={value}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-note`}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <FieldNote id={`${id}-note`} hint={hint} problem={problem} />
    </div>
  );
}

interface CheckFieldProps extends Described {
  checked: boolean;
  onChange: (checked: boolean) => void;
}

export function CheckField({ label, hint, problem, checked, onChange }: CheckFieldProps) {
  const id = useId();
  return (
    <div class="field check">
      <input
        type="checkbox"
        id={id}
        checked={checked}
        aria-describedby={`${id}-note`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      <FieldNote id={`${id}-note`} hint={hint} problem={problem} />
    </div>
  );
}

interface SwitchProps {
  label: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}

/** On or off at once, without a form. */
export function Switch({ label, checked, disabled = false, onChange }: SwitchProps) {
  return (
    <input
      type="checkbox"
      role="switch"
      aria-checked={checked}
      class="switch"
      aria-label={label}
      checked={checked}
      disabled={disabled}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

function FieldNote({ id, hint, problem }: { id: string; hint: ComponentChildren; problem: string | undefined }) {
  return (
    <p id={id} class={problem === undefined ? 'hint' : 'problem'}>
      {problem ?? hint}
    </p>
  );
}

/** The end of a form: what is wrong with the whole, and the buttons. */
export function FormEnd({
  error,
  busy,
  action,
  onCancel,
}: {
  error: string | null;
  busy: boolean;
  action: string;
  onCancel?: () => void;
}) {
  return (
    <>
      <p class="form-error" role="alert">
        {error}
      </p>
      <div class="dialog-actions">
        {onCancel && (
          <button type="button" onClick={onCancel}>
            {t('common.cancel')}
          </button>
        )}
        <button type="submit" class="primary" disabled={busy}>
          {action}
        </button>
      </div>
    </>
  );
}

/** Choices whose labels are their values. */
export function plainChoices(values: readonly string[]): Choice[] {
  return values.map((value) => ({ value, label: value }));
}
