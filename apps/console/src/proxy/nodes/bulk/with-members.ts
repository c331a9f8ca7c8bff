/** The members of a group with more nodes, before the built-ins at the end; nodes that it has already are not repeated. */
export function withMembers(listed: readonly string[], ids: readonly number[]): { members: string[]; added: number } {
  const fresh = ids.map((id) => `n${id}`).filter((proxy) => !listed.includes(proxy));
  const isBuiltIn = (name: string): boolean => ['DIRECT', 'REJECT', 'REJECT-DROP'].includes(name);
  const end = listed.findLastIndex((name) => !isBuiltIn(name)) + 1;
  return { members: [...listed.slice(0, end), ...fresh, ...listed.slice(end)], added: fresh.length };
}
