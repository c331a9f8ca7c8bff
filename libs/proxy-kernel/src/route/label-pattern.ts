/** Whether a host matches labels in which `*` stands for exactly one label. */
export function matchesLabels(host: string, labels: readonly string[]): boolean {
  const parts = host.split('.');
  return parts.length === labels.length && labels.every((label, i) => label === '*' || label === parts[i]);
}
