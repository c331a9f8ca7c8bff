import type { Translation } from '@gatehouse/i18n';
import type { usage as english } from '../en/usage.js';

export const usage: Translation<typeof english> = {
  usage: {
    ofDay: '{date}：{count, plural, other {# 次调用}}，失败 {failed} 次',
    most: '每日最多 {count, plural, other {# 次调用}}',
    succeeded: '成功',
    table: '显示为表格',
    share: '占比',
    quotaLeft: '今日剩余配额',
    quota: '{left} <note>共 {limit}，{time} 重置</note>',
    noLimit: '无限制',
    calls: '哪些调用',
    real: '真实调用',
    test: '测试调用',
    noTestCalls: '最近 30 天没有测试调用。',
  },
  errorLog: {
    title: '错误日志',
    intro: '最近 50 次返回错误的调用。寻求帮助时请提供请求 ID。',
    none: '最近 30 天没有返回错误的调用。',
    time: '时间',
    code: '错误码',
    requestId: '请求 ID',
  },
};
