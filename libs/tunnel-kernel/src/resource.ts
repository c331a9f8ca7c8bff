/** What visitors come to. */
export type ResourceKind = 'tunnel' | 'host';

export interface ResourceRef {
  readonly kind: ResourceKind;
  readonly id: number;
}

/** The same text for the same resource, to look up by. */
export function resourceKey({ kind, id }: ResourceRef): string {
  return `${kind}:${id}`;
}
