interface SegmentsProps<T> {
  /** What is chosen. */
  label: string;
  choices: readonly T[];
  current: string;
  onChange: (choice: T) => void;
}

/** A few choices beside each other, one of them taken. */
export function Segments<T extends { id: string; label: string }>({
  label,
  choices,
  current,
  onChange,
}: SegmentsProps<T>) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {choices.map((choice) => (
        <button key={choice.id} type="button" aria-pressed={choice.id === current} onClick={() => onChange(choice)}>
          {choice.label}
        </button>
      ))}
    </div>
  );
}
