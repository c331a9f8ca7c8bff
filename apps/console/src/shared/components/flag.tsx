import flags from '../flags.svg';
import { hasFlag, partsOf } from './flag-codes.js';

/** A country's flag, which every system shows the same; its two letters where none is drawn. */
export function Flag({ code }: { code: string }) {
  if (!hasFlag(code)) {
    return (
      <span class="flag-letters" aria-hidden="true">
        {code}
      </span>
    );
  }
  return (
    <svg class="flag" width="18" height="12" aria-hidden="true" focusable="false">
      <use href={`${flags}#${code}`} />
    </svg>
  );
}

/** A country by its flag and its code. */
export function Country({ code, name = '' }: { code: string; name?: string | null | undefined }) {
  return (
    <span class="country" title={name ?? ''}>
      <Flag code={code} /> <span class={hasFlag(code) ? '' : 'hidden'}>{code}</span>
    </span>
  );
}

/**
 * A name with the flags that are written in it drawn: Windows shows two letters for them. A name without one has the flag of
 * the country before it, where that is given.
 */
export function FlaggedName({ name, country = null }: { name: string; country?: string | null }) {
  const parts = partsOf(name);
  const isFlagged = parts.some((part) => typeof part !== 'string');
  return (
    <>
      {country !== null && !isFlagged && (
        <>
          <Flag code={country} />{' '}
        </>
      )}
      {parts.map((part) =>
        typeof part === 'string' ? (
          part
        ) : (
          <>
            <Flag code={part.flag} />
            <span class="hidden">{part.flag}</span>
          </>
        ),
      )}
    </>
  );
}
