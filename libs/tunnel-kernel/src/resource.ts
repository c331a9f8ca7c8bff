/** The kinds of resources that visitors connect to. */
export type ResourceKind = 'tunnel' | 'host';

export interface ResourceRef {
  readonly kind: ResourceKind;
  readonly id: number;
}

/** The same text for the same resource, for use as a map key. */
export function resourceKey({ kind, id }: ResourceRef): string {
  return `${kind}:${id}`;
}
