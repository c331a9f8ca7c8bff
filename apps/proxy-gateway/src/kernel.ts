import 'reflect-metadata';
import { runProcess } from '@gatehouse/platform';
import { startSeparateKernel } from './kernel/separate/start-separate-kernel.js';
import { readKernelSettings } from './kernel/separate/settings.js';

/** The proxy's data plane without a service and without a parent, for a container of its own. */
await runProcess('proxy-gateway kernel', () => startSeparateKernel(readKernelSettings()));
