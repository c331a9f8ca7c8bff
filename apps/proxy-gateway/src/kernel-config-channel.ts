/** Notified, within the transaction that changes it, by whatever a kernel configuration is made of. */
export const KERNEL_CONFIG_CHANNEL = 'proxy_gateway_config';
