import type { Plugin } from 'rolldown';

export function oneCopyEach(names: readonly string[]): Plugin;
