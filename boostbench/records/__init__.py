"""Records of experiments: their files, their index and their verification."""
