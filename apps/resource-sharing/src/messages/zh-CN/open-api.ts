/** Texts of the open API that its clients know; some clients compare them. */
export const openApi = {
  open: {
    alreadyOwned: '已拥有该资源',
    free: '免费资源',
    unlocked: '解锁成功',
    weeklyFree: '获取成功',
    ownShare: '自己的分享',
    isUnlocked: '已解锁',
    needsPoints: '需要 {price} 积分解锁',
    shared: '分享成功',
    updated: '更新成功',
    deleted: '删除成功',
    checkedInBefore: '你已经签到过了，明天再来吧',
    checkInLost: '签到成功，失去 {points} 积分',
    checkInWon: '签到成功，获得 {points} 积分',
    checkInDoubled: '签到成功，获得 {points} 积分（Premium 双倍积分）',
    scopes: { global: '全局', app: '应用', user: '用户' },
  },
} as const;
