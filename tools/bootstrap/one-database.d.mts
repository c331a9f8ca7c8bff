import type { Plugin } from 'rolldown';

export function oneDatabase(): Plugin;
