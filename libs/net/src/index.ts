export { cidrContains, formatCidr, formatIp, hostCidr, parseCidr, parseIp, parseIpv4, type Cidr, type IpAddress } from './cidr.js';
