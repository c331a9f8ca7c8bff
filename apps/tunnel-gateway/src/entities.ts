import { AuthPolicy, PolicyOptions } from './auth-policies/auth-policy.entity.js';
import { Client, ClientOptions } from './clients/client.entity.js';
import { EventRow } from './events/event.entity.js';
import { Host, HostOptions } from './hosts/host.entity.js';
import { IpRule } from './ip-rules/ip-rule.entity.js';
import { FlowStat, RequestIp } from './traffic/traffic.entity.js';
import { Tunnel, TunnelOptions } from './tunnels/tunnel.entity.js';
import { User } from './users/user.entity.js';

/** Every entity of the service. */
export const ENTITIES = [
  User,
  Client,
  ClientOptions,
  Tunnel,
  TunnelOptions,
  Host,
  HostOptions,
  IpRule,
  AuthPolicy,
  PolicyOptions,
  FlowStat,
  RequestIp,
  EventRow,
];
