/** Of the program, as the gateway's console shows it; `package.json` says the same, which a test holds. */
export const AGENT_VERSION = '0.1.0';
