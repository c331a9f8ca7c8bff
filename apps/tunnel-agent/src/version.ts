/** Version of the program, as shown in the gateway's console; a test keeps it equal to `package.json`. */
export const AGENT_VERSION = '0.1.0';
