import { useId } from 'preact/hooks';

interface FileFieldProps {
  label: string;
  hint?: string;
  problem?: string | undefined;
  /** Endings of names that are offered, such as `.json`. */
  accept: string;
  multiple?: boolean;
  onChoose: (files: readonly File[]) => void;
}

/** Files of the reader's own machine. */
export function FileField({ label, hint, problem, accept, multiple = false, onChoose }: FileFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept={accept}
        multiple={multiple}
        required
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-note`}
        onChange={(event) => onChoose([...(event.currentTarget.files ?? [])])}
      />
      <p id={`${id}-note`} class={problem === undefined ? 'hint' : 'problem'}>
        {problem ?? hint}
      </p>
    </div>
  );
}
