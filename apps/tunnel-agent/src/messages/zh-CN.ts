import type { Translation } from '@gatehouse/i18n';
import type { en } from './en.js';

export const zhCN: Translation<typeof en> = {
  status: {
    connecting: '正在连接 {server}',
    online: '已连接 {server}，客户端 {client}',
    onlineByWebSocket: '已通过 WebSocket 连接 {server}，客户端 {client}',
    offline: '已离线：{reason}；{seconds} 秒后重试',
    stopped: '已停止',
    gaveUp: '不再重试：{reason}',
    error: '错误：{message}',
  },
  table: {
    mode: '模式',
    reachedAt: '访问地址',
    is: '对象',
    leadsTo: '目标',
    byKey: '（凭密钥访问）',
    tunnel: '隧道 {id}',
    host: '主机 {id}',
    readOnly: '{path}（只读）',
    anything: '由访客指定',
    empty: '网关上尚未配置任何隧道或主机',
  },
  advice: {
    unauthorized: '密钥已更换或被吊销：请获取新密钥，或检查密钥是否复制完整。',
    server_key: '此地址由其他服务响应，或网关已重新安装：请核对地址，然后获取新密钥。',
    replaced: '另一个客户端程序正在使用同一密钥：请停止其中一个，或分别创建客户端。',
    version: '请使用与网关同一版本的客户端程序。',
    misdirected:
      '到网关之间的某个代理拆除了 WebSocket 的 TLS，导致无法识别目标进程。请让它原样转发 TLS，或以明文 HTTP 连接网关的 HTTP 端口（TUNNEL_HTTP_PORT）。',
    disabled: '客户端已停用或过期，或此地址被规则拒绝；更改后会自动恢复连接。',
  },
  help: '使用 gatehouse-agent --help 查看帮助。',
};
