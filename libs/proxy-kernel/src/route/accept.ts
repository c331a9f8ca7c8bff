/** Whether the target of a matching rule accepts the flow now; otherwise the search continues with the next rule. */
export type Accept = (index: number) => boolean;
