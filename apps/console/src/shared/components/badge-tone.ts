export type BadgeTone = 'good' | 'fair' | 'bad' | 'info' | 'none';
