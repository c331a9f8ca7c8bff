import { bilingual, BilingualError } from '@gatehouse/i18n';

/** A start that cannot continue. The text tells the operator what to do, in English and in Chinese. */
export class StartError extends BilingualError {
  constructor(english: string, chinese: string, options?: ErrorOptions) {
    super(bilingual(english, chinese), options);
    this.name = 'StartError';
  }
}
