import type { Translation } from '@gatehouse/i18n';
import type { testMode as english } from '../en/test-mode.js';

export const testMode: Translation<typeof english> = {
  testMode: {
    title: '测试模式',
    pageTitle: '{name} 的测试模式',
    manage: '管理测试模式',
    intro:
      '使用测试密钥的调用有独立的积分、分享、解锁和签到。任何人的真实积分都不会改变，他人也看不到其中的分享。<link>工作方式</link>',
    keys: '测试密钥',
    key: '测试密钥',
    keyName: '以 {last} 结尾的测试密钥',
    noKeys: '还没有测试密钥。',
    newKey: '测试密钥',
    create: '创建测试密钥',
    shares: '虚构的分享',
    noShares: '从某个用户的第一次测试调用起才会出现。',
    outcome: '名称',
    slug: 'Slug',
    price: '积分',
    free: '免费',
    points: '你的测试积分',
    pointsHint: '你在此应用测试模式中的积分。测试账户初始有 1,000 积分。',
    setPoints: '设置积分',
    empty: '清空测试数据',
    emptyText: '删除用此应用的测试密钥产生的所有积分、分享、解锁和签到。测试密钥会保留。',
    inLog: '测试',
  },
};
