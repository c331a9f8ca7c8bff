import { makeHashesCheap } from '@gatehouse/auth';

// Set up before each file of the services: a third of their processor time went into hashes of passwords.
makeHashesCheap();
