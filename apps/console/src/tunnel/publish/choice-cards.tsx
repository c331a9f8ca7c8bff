import { useId } from 'preact/hooks';

interface ChoiceCardsProps<T extends string> {
  /** What is chosen. */
  label: string;
  value: T;
  choices: readonly { value: T; label: string; about: string }[];
  onChange: (value: T) => void;
}

/** A choice of few, each with a sentence about it. */
export function ChoiceCards<T extends string>({ label, value, choices, onChange }: ChoiceCardsProps<T>) {
  const id = useId();
  return (
    <div class="choice-cards" role="radiogroup" aria-label={label}>
      {choices.map((choice) => (
        <label key={choice.value} class="choice-card">
          <input
            type="radio"
            name={id}
            value={choice.value}
            checked={choice.value === value}
            aria-labelledby={`${id}-${choice.value}`}
            aria-describedby={`${id}-${choice.value}-about`}
            onChange={() => onChange(choice.value)}
          />
          <span>
            <strong id={`${id}-${choice.value}`}>{choice.label}</strong>
            <span class="second" id={`${id}-${choice.value}-about`}>
              {choice.about}
            </span>
          </span>
        </label>
      ))}
    </div>
  );
}
