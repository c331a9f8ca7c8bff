import type { NodeView } from '@gatehouse/contracts';

export interface NodeForm {
  name: string;
  country: string;
  tags: string;
  raw_config: string;
}

/** What of a form differs from the node: the rest is not sent, so that two people can change different things. */
export function nodeChanges(node: NodeView, form: NodeForm, tags: readonly string[]): Record<string, unknown> {
  const manual = node.country_source === 'manual' ? (node.country ?? '') : '';
  return {
    ...(form.name === node.name ? {} : { name: form.name }),
    ...(form.country === manual
      ? {}
      : { country: form.country.trim() === '' ? null : form.country.trim().toUpperCase() }),
    ...(tags.join('\n') === node.tags.join('\n') ? {} : { tags }),
    ...(form.raw_config === node.raw_config ? {} : { raw_config: form.raw_config }),
  };
}
