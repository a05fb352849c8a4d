A matrix of order two                                                   |key     
             3             1             1             1             0
rsa                        2             2             3             0
(3I3)           (3I3)           (1P,3E10.2)
  1  3  4
  1  2  2
    2.0+00    -1.5+0    3.0E0  
