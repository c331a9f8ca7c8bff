/** Says of a rule that matched whether its target can take the flow now; if not, the search goes on behind it. */
export type Accept = (index: number) => boolean;
