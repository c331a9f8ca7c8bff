import { ApiKeyRow } from './api-keys/api-key.entity.js';
import { AuthPolicy, PolicyOptions } from './auth-policies/auth-policy.entity.js';
import { Client, ClientOptions } from './clients/client.entity.js';
import { Domain } from './domains/domain.entity.js';
import { EventRow } from './events/event.entity.js';
import { Host, HostOptions } from './hosts/host.entity.js';
import { IpRule } from './ip-rules/ip-rule.entity.js';
import { SessionDetails, SessionRow } from './sessions/session.entity.js';
import { FlowStat, RequestIp } from './traffic/traffic.entity.js';
import { Tunnel, TunnelOptions } from './tunnels/tunnel.entity.js';
import { User } from './users/user.entity.js';
import { Webhook, WebhookDelivery, WebhookProgress } from './webhooks/webhook.entity.js';

/** Every entity of the service. */
export const ENTITIES = [
  User,
  Client,
  ClientOptions,
  Tunnel,
  TunnelOptions,
  Host,
  HostOptions,
  Domain,
  IpRule,
  AuthPolicy,
  PolicyOptions,
  FlowStat,
  RequestIp,
  EventRow,
  SessionRow,
  SessionDetails,
  ApiKeyRow,
  Webhook,
  WebhookDelivery,
  WebhookProgress,
];
