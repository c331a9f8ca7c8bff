import { ApiKeyRow } from './data/api-key.entity.js';
import { AuthPolicy, PolicyOptions } from './data/auth-policy.entity.js';
import { Client, ClientOptions } from './data/client.entity.js';
import { Domain } from './data/domain.entity.js';
import { EventRow } from './data/event.entity.js';
import { Host, HostOptions } from './data/host.entity.js';
import { IpRule } from './data/ip-rule.entity.js';
import { SessionDetails, SessionRow } from './data/session.entity.js';
import { FlowStat, RequestIp } from './data/traffic.entity.js';
import { Tunnel, TunnelOptions } from './data/tunnel.entity.js';
import { User } from './data/user.entity.js';
import { Webhook, WebhookDelivery, WebhookProgress } from './data/webhook.entity.js';

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
