/** Words of what is done with nodes: using, testing and changing many of them. */
export const nodeActions = {
  exit: {
    use: 'Use',
    useName: 'Use {name}',
    inUse: 'In use',
    usedBy: 'Used by {groups}',
    modes: {
      rule: 'Traffic that no rule matches goes through',
      global: 'All traffic goes through',
      direct: 'All traffic goes through',
    },
    direct: '(not through a node)',
    chooseTitle: 'Use {name}',
    chooseText: 'Choose the group that should use this node.',
  },
  tests: {
    waiting: 'waiting',
    testing: 'testing',
    stop: 'Stop',
    test: 'Test',
    testName: 'Test {name}',
    progress: '{tested, number} of {total, number} tested{failed, plural, =0 {} other {, # without an answer}}',
  },
  bulk: {
    title: 'Selected nodes',
    select: 'Select',
    selectName: 'Select {name}',
    selectAll: 'Select all {count, number}',
    selected: '{count, number} selected',
    enable: 'Enable …',
    disable: 'Disable …',
    addToGroup: 'Add to group …',
    clear: 'Clear selection',
    enableTitle: 'Enable {count, plural, one {# node} other {# nodes}}?',
    enableCount: 'Enable {count, plural, one {# node} other {# nodes}}',
    enableText: '<b>{count, plural, one {# node} other {# nodes}}</b> can be used and tested again.',
    disableTitle: 'Disable {count, plural, one {# node} other {# nodes}}?',
    disableCount: 'Disable {count, plural, one {# node} other {# nodes}}',
    disableText:
      '<b>{count, plural, one {# node} other {# nodes}}</b> leave all groups until they are enabled again. Rules that name them are skipped.',
    deleteTitle: 'Delete {count, plural, one {# node} other {# nodes}}?',
    deleteCount: 'Delete {count, plural, one {# node} other {# nodes}}',
    deleteText:
      '<b>{count, plural, one {# node} other {# nodes}}</b> are deleted. Nodes of a subscription stay: disable them, or delete the subscription.',
    progress: '{done, number} of {total, number} done{failed, plural, =0 {} other {, # failed}}',
    summary:
      '{done, number} of {total, number} done{failed, plural, =0 {} other {, # failed}}{left, plural, =0 {} other {, # not tried}}.',
    failures: 'Failed',
    failuresText: 'These were not changed and stay selected:',
    groupTitle: 'Add {count, plural, one {# node} other {# nodes}} to a group',
    group: 'Group',
    groupHint: 'The nodes become members by name, whatever its filters say',
    addCount: 'Add {count, plural, one {# node} other {# nodes}}',
    addedToGroup:
      '{added, plural, one {# node} other {# nodes}} added to {group}{present, plural, =0 {} other {; # were in it already}}.',
  },
} as const;
