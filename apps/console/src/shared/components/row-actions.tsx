import type { ComponentChildren } from 'preact';

interface RowActionProps {
  /** What the button says. */
  children: ComponentChildren;
  /** What it does and to which row, for those who do not see the row. */
  label: string;
  danger?: boolean;
  disabled?: boolean;
  onClick: () => void;
}

/** A button at the end of a row. */
export function RowAction({ children, label, danger = false, disabled = false, onClick }: RowActionProps) {
  return (
    <button
      type="button"
      class={danger ? 'small danger' : 'small'}
      aria-label={label}
      disabled={disabled}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

export function RowActions({ children }: { children: ComponentChildren }) {
  return <span class="cell-actions">{children}</span>;
}
