import type { ComponentChildren } from 'preact';
import { TextField } from './fields.js';

interface SearchBarProps {
  /** Of the whole bar. */
  label: string;
  /** What is searched; shown in the field while it is empty. */
  placeholder: string;
  value: string;
  onInput: (value: string) => void;
  /** More that narrows the list. */
  children?: ComponentChildren;
}

/** The row above a list that narrows it. */
export function SearchBar({ label, placeholder, value, onInput, children }: SearchBarProps) {
  return (
    <div class="filters" role="search" aria-label={label}>
      <div class="search">
        <TextField
          label={placeholder}
          hideLabel
          type="search"
          placeholder={placeholder}
          value={value}
          onInput={onInput}
        />
      </div>
      {children}
    </div>
  );
}
