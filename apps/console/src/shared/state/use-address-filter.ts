import { hrefTo, parseHash, type Route } from './route.js';

type Words = Readonly<Record<string, string>>;

/** The values of a filter that an address names; what it does not name is as in `defaults`. */
export function filterOf<T extends Words>(defaults: T, query: Words): T {
  const named = Object.keys(defaults).flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]]));
  return { ...defaults, ...(Object.fromEntries(named) as Partial<T>) };
}

/** The address with another filter. What is as in `defaults` is left out; what is no part of the filter stays. */
export function addressWith<T extends Words>({ page, query }: Route, defaults: T, changes: Partial<T>): string {
  const next = Object.entries({ ...query, ...changes } as Words);
  return hrefTo(page, Object.fromEntries(next.filter(([name, value]) => value !== (defaults[name] ?? null))));
}

/**
 * A filter that stands in the address, so that reloading, links and the browser's own buttons keep it. Changes replace
 * the address: each letter typed would otherwise be a step back.
 *
 * @param query of the page, as its address has it
 */
export function useAddressFilter<T extends Words>(query: Words, defaults: T): [T, (changes: Partial<T>) => void] {
  const change = (changes: Partial<T>): void => {
    history.replaceState(null, '', addressWith(parseHash(location.hash), defaults, changes));
    // Replacing the address raises no event.
    dispatchEvent(new HashChangeEvent('hashchange'));
  };
  return [filterOf(defaults, query), change];
}
