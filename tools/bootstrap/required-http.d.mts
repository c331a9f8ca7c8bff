export function requiredHttp(): {
  name: string;
  renderChunk(code: string): { code: string; map: null } | null;
};
