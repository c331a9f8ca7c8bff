export * from './accept-language.js';
export * from './languages.js';
export * from './messages.js';
export * from './translator.js';
export * from './compare-catalogues.js';
export * from './terminal.js';
export * from './bilingual.js';
export * from './user-agent.js';
