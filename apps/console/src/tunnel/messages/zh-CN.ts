import type { Translation } from '@gatehouse/i18n';
import type { en } from './en.js';

export const zhCN: Translation<typeof en> = {
  nav: {
    dashboard: '概览',
    clients: '客户端',
    tunnels: '隧道',
    hosts: '域名主机',
    domains: '域名',
    certificates: '证书',
    ipRules: 'IP 规则',
    access: '访问控制',
    traffic: '流量',
    events: '事件',
    webhooks: 'Webhook',
    users: '用户',
    transfer: '导入与导出',
    sessions: '会话',
    account: '账户',
  },
  app: {
    product: '隧道网关',
    roles: { admin: '管理员', user: '用户', viewer: '只读' },
  },
};
