/** Words of the page of test mode. */
export const testMode = {
  testMode: {
    title: 'Test mode',
    pageTitle: 'Test mode of {name}',
    manage: 'Manage test mode',
    intro:
      'Calls with a test key have points, shares, unlocks and check-ins of their own. Nobody’s real points change, and nobody else sees the shares. <link>How it works</link>',
    keys: 'Test keys',
    key: 'Test key',
    keyName: 'test key ending in {last}',
    noKeys: 'No test key yet.',
    newKey: 'test key',
    create: 'Create test key',
    shares: 'Made-up shares',
    noShares: 'They are there from the first test call for a user on.',
    outcome: 'Name',
    slug: 'Slug',
    price: 'Points',
    free: 'free',
    points: 'Your test points',
    pointsHint: 'What you have in test mode of this application. A test account begins with 1,000 points.',
    setPoints: 'Set points',
    empty: 'Empty test data',
    emptyText:
      'Removes all points, shares, unlocks and check-ins that were made with test keys of this application. Test keys stay.',
    inLog: 'test',
  },
} as const;
