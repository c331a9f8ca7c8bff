import type { Translation } from '@gatehouse/i18n';
import type { openApi as chinese } from '../zh-CN/open-api.js';

export const openApi: Translation<typeof chinese> = {
  open: {
    alreadyOwned: 'You already have this resource',
    free: 'Free resource',
    unlocked: 'Unlocked',
    unlockedSome: 'Unlocked {done} of {count} resources',
    noShare: 'The share does not exist',
    tooFewPoints: 'Not enough points',
    tooFast: 'Too many unlocks: try again later',
    blocked: 'Blocked by risk control',
    weeklyFree: 'Success',
    ownShare: 'Your own share',
    isUnlocked: 'Unlocked before',
    needsPoints: '{price} points to unlock',
    shared: 'Shared',
    newShare: 'New share of “{title}”',
    changedShare: 'A share of “{title}” has changed',
    updated: 'Updated',
    deleted: 'Deleted',
    checkedInBefore: 'You have already checked in today. Come back tomorrow',
    checkInLost: 'Checked in, lost {points} points',
    checkInWon: 'Checked in, won {points} points',
    checkInDoubled: 'Checked in, won {points} points (doubled with Premium)',
    scopes: { global: 'global', app: 'application', user: 'user' },
  },
};
