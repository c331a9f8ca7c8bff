import type { TunnelError, TunnelErrorCode } from '@gatehouse/tunnel-kernel';
import { AGENT_CATALOGUES, type AgentMessages, type AgentWords } from './messages/index.js';

/** Exit codes, for scripts and service managers. */
export const EXIT = {
  /** Stopped on request. */
  stopped: 0,
  /** A defect of the program. */
  failed: 1,
  /** The command line, the environment or the file cannot be read. */
  usage: 2,
  /** The server does not know the key. */
  key: 3,
  /** The server at this address has another key than the key string names. */
  server: 4,
  /** Another agent with the same key took over. */
  replaced: 5,
  /** Server and agent share no version of the protocol. */
  version: 6,
  /** The gateway did not publish what was asked for, or did not answer. */
  refused: 7,
  /** `status`: an agent is not connected, or does not answer. */
  offline: 8,
  /** `status`: no agent of this user runs. */
  noAgent: 9,
} as const;

const CHINESE_REASONS: Partial<Record<TunnelErrorCode, string>> = {
  unauthorized: '密钥无效',
  server_key: '网关的密钥不符',
  replaced: '已被使用同一密钥的另一个客户端取代',
  version: '协议版本不兼容',
  disabled: '客户端已停用或过期',
  timeout: '连接超时',
};

const FINAL: Partial<Record<TunnelErrorCode, number>> = {
  unauthorized: EXIT.key,
  server_key: EXIT.server,
  replaced: EXIT.replaced,
  version: EXIT.version,
  stopped: EXIT.stopped,
};

/** The exit code for an agent that will not connect again. */
export function exitCodeOf(code: TunnelErrorCode): number {
  return FINAL[code] ?? EXIT.failed;
}

/** What a person can do about it; empty if nothing is known. */
export function adviceFor(code: TunnelErrorCode, words: AgentWords): string {
  return isAdvised(code) ? words.text(`advice.${code}`) : '';
}

/** Why an agent is not connected, where the gateway or the agent gave a code for it in this language; else the message. */
export function reasonFor({ code, message }: Pick<TunnelError, 'code' | 'message'>, { language }: AgentWords): string {
  return (language === 'zh-CN' ? CHINESE_REASONS[code] : undefined) ?? message;
}

type AdvisedCode = keyof AgentMessages['advice'];

function isAdvised(code: string): code is AdvisedCode {
  return Object.hasOwn(AGENT_CATALOGUES.en.advice, code);
}
