/** Words of an application's first steps. */
export const quickstart = {
  quickstart: {
    title: 'Quickstart',
    send: 'Send the user to this address. It works now: open it to see the consent page as your users do.',
    pkce: 'The address and the code below belong together (PKCE). Your application creates another state and verifier for each user.',
    back: 'The user comes back to <code>{address}</code> with the parameter code. It is valid for a few minutes and works once.',
    call: 'Exchange the code for tokens and make the first call. Set CODE and CLIENT_SECRET in the environment; no package is needed.',
    callPublic:
      'Exchange the code for tokens and make the first call. Set CODE in the environment; neither the secret nor a package is needed, because the token names the application.',
    client:
      'For more than a first call there are <link>clients for TypeScript and Python</link> that sign users in, refresh tokens, repeat calls and read lists, and a <postman>collection for Postman</postman>.',
  },
} as const;
